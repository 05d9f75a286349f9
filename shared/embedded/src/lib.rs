//! The ports in one process: durable embedded table, timers, queues, broadcast.
