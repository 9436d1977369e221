"""Tags that items lack: which are proposed and why, which are worth asking, and a person's yes or no."""
