"""One runner for every kind of run: folder, manifest, numbers, progress, repeats, interruption."""
