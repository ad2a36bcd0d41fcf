"""Systems under test, one folder each; `servers.base` says what every one of them offers."""
