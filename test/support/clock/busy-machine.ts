/**
 * What a program may take longer than it promises, where something else than the time proves what the test is about:
 * on a busy machine a timer or a process is late, and the promise is of a machine with time for it.
 */
export const BUSY_MACHINE_MS = 3_000;
