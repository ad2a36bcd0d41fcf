"""Methods of an object in another process or on another host, as if it were in this one."""
