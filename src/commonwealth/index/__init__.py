"""SQLite remembers where things are: a disposable index over notes that other floors hand in."""
