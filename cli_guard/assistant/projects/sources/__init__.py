"""Where commands come from: each source gives `Found`s in the order in which its files hold them."""
