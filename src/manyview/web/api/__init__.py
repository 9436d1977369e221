"""The routes, a file for each subject. Each answer is made by a plain function of one state of the collection."""
