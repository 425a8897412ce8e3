"""Record of the write pipeline: turns, sessions, traces, spans, model calls, configuration versions."""
