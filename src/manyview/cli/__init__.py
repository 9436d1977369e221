"""The command line. ``main.py`` lists the commands; each one is a file of its own."""
