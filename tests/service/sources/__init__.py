"""Services that are fed by real brokers on this machine."""
