import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import type { Sink } from './sink.ts';

/**
 * To bound the memory, longer output is printed at once. This is ten times the log of a first export of the whole
 * history.
 */
const HELD_CHARS_MAX = 16 * 1024 * 1024;

/** A sink that keeps output in memory until it is released. */
interface HeldSink extends Sink {
  /** Writes the held output. Later output is written immediately. */
  release(): void;
}

function holdBack(sink: Sink): HeldSink {
  let held: string[] | null = [];
  let chars = 0;
  const release = () => {
    const texts = held ?? [];
    held = null;
    for (const text of texts) sink.write(text);
  };
  return {
    write: (text) => {
      if (held === null) return sink.write(text);
      held.push(text);
      chars += text.length;
      if (chars > HELD_CHARS_MAX) release();
    },
    flush: () => sink.flush(),
    get failure() {
      return sink.failure;
    },
    release,
  };
}

/** Where a command writes. */
export interface Sinks {
  readonly out: Sink;
  readonly err: Sink;
}

/**
 * Runs a command and discards its output if the exit code is 0, so that cron mails only failures. Otherwise prints the
 * output at the end. `release` prints it earlier, for a process that exits before this function returns.
 */
export async function runQuietly(
  { out, err }: Sinks,
  command: (sinks: Sinks, release: () => void) => Promise<ExitCode>,
): Promise<ExitCode> {
  const held = { out: holdBack(out), err: holdBack(err) };
  const release = () => {
    held.err.release();
    held.out.release();
  };
  let exitCode: ExitCode = EXIT.defect;
  try {
    exitCode = await command(held, release);
    return exitCode;
  } finally {
    if (exitCode !== EXIT.ok) release();
  }
}
