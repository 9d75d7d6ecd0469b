"""Other tools' interfaces over irbatch; each module is imported by name where it is wanted."""
