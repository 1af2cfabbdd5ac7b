import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const CALLS = ['write', 'pwrite64', 'writev', 'pwritev', 'pwritev2', 'fsync', 'fdatasync', 'sync_file_range'];
const OPTIONS = [
  '-f',
  '--seccomp-bpf',
  '-qq',
  '-y',
  '-s',
  '0',
  '-e',
  'signal=none',
  '-e',
  `trace=${CALLS.join(',')}`,
];

/** What the system calls of a process show. */
export interface Traced {
  /** Bytes written to the log of a SQLite file. */
  readonly walBytes: number;
  /** How often a file was synced to the disk. */
  readonly fsyncs: number;
}

/** A command that runs another one and notes its system calls in a file. */
export function straced(file: string, command: readonly string[]): readonly [string, ...string[]] {
  return ['strace', ...OPTIONS, '-o', file, ...command];
}

/** The reason why system calls cannot be counted on this machine; null if they can. */
export function whyNotTraced(): string | null {
  const { error, status, stderr } = spawnSync('strace', [...OPTIONS, '-o', '/dev/null', 'true'], {
    encoding: 'utf8',
  });
  if (error !== undefined) return 'strace is not installed';
  return status === 0 ? null : `strace does not work here: ${stderr.trim().split('\n')[0]}`;
}

/** Reads the file of {@link straced}. */
export function readTrace(file: string): Traced {
  let [walBytes, fsyncs] = [0, 0];
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (/^\d+ +f(?:data)?sync\(/.test(line)) fsyncs += 1;
    // The arguments are known before the call returns, and calls of other threads may come between.
    const written = /^\d+ +p?write(?:64)?\(\d+<[^>]*-wal>, [^,]*, (\d+)/.exec(line);
    if (written !== null) walBytes += Number(written[1]);
  }
  return { walBytes, fsyncs };
}
