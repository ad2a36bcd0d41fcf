"""Operations on the machine: programs in namespaces, processes, settings that are undone, files."""
