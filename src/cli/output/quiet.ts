import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import type { Sink } from './sink.ts';

/** Characters held back at most: ten times what a first export of the whole history logs. What is longer is printed. */
const HELD_CHARS_MAX = 16 * 1024 * 1024;

/** A sink that holds back what is written, and the way to let it go. */
interface HeldSink extends Sink {
  /** Writes what was held back, and from then on everything at once. */
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
 * Runs a command that prints nothing when it ends with exit code 0, so that cron mails trouble only. Whatever ends it
 * otherwise prints as ever, late: `release` is for an end that does not come back here.
 */
export async function quietly(
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
