"""What moves: ``frames`` reads videos, ``hog3d`` describes pieces of space and time, ``motion_words`` counts them."""
