import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import type { Redactor } from '../../settings/index.ts';
import type { TableFrame } from '../screens/table.ts';
import { escapeForTerminal, toSafeJson } from '../screens/text.ts';
import type { Sink, Terminal } from './terminal.ts';

/** The output for which a screen is drawn. */
export interface ScreenFrame extends TableFrame {
  /** True when a person reads it on a terminal. */
  readonly isTerminal: boolean;
  /** Replaces secrets. Applied before values are shortened, because a part of a secret would not be recognized. */
  readonly redact: Redactor;
}

/** Standard output, for results. Replaces secrets in everything except {@link Output.line}. */
export interface Output {
  /**
   * Prints a result: as JSON with `--json`, otherwise as the lines that `render` returns. `afterLog` puts a blank line
   * before them on a terminal, to separate them from the log.
   */
  show(
    result: unknown,
    render: (frame: ScreenFrame) => readonly string[],
    options?: { readonly afterLog?: boolean },
  ): void;
  /** Prints lines. Values from outside must be escaped already, because the lines may contain control codes. */
  print(lines: readonly string[]): void;
  /** Prints one JSON document: on one line, or indented on a terminal. */
  json(value: unknown): void;
  /** Prints a JSON document on one line without replacing secrets, for a program that reads a generated key. */
  line(value: unknown): void;
  /** Prints a JSON document on one line, and waits until it is sent. Returns false once nobody reads any more. */
  send(value: unknown): Promise<boolean>;
}

interface OutputOptions {
  readonly sink: Sink;
  readonly terminal: Terminal;
  readonly redact: Redactor;
  /** True with `--json`. */
  readonly isJson: boolean;
}

/** Creates an output over a sink. */
export function createOutput({ sink, terminal, redact, isJson }: OutputOptions): Output {
  const { isTerminal, style } = terminal;
  const print = (lines: readonly string[]) => sink.write(redact(lines.map((line) => `${line}\n`).join('')));
  const json = (value: unknown) => sink.write(redact(`${toSafeJson(value, isTerminal ? 2 : undefined)}\n`));
  return {
    show: (result, render, { afterLog = false } = {}) => {
      if (isJson) return json(result);
      const lines = render({ width: terminal.columns(), style, isTerminal, redact });
      print(afterLog && isTerminal ? ['', ...lines] : lines);
    },
    print,
    json,
    line: (value) => sink.write(`${toSafeJson(value)}\n`),
    send: async (value) => {
      sink.write(redact(`${toSafeJson(value)}\n`));
      await sink.flush();
      return sink.failure === null;
    },
  };
}

/** The lines of a CSV text for standard output: as they are, but safe to look at on a terminal. */
export function csvLines(csv: string, { isTerminal }: Pick<ScreenFrame, 'isTerminal'>): string[] {
  const text = csv.replace(/\n$/, '');
  return isTerminal ? text.split('\n').map(escapeForTerminal) : [text];
}

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
interface Sinks {
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
