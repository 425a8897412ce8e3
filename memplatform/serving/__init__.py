"""Between the web server and Django: requests are read in full, within limits, before a thread is taken for them."""
