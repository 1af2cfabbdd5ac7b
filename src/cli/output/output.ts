import type { Redactor } from '../../settings/redact.ts';
import { toSafeJson } from '../text/escape.ts';
import type { Sink } from './sink.ts';
import type { Terminal } from './terminal.ts';

/** Standard output: where results go. */
export interface Output {
  readonly terminal: Terminal;
  /** Replaces secrets; for values that are shortened before they are printed. */
  readonly redact: Redactor;
  /** Prints lines. They may hold control codes of this program alone: values from outside are escaped before. */
  print(lines: readonly string[]): void;
  /** As `print`, set off from the log above where both are on one terminal. */
  present(lines: readonly string[]): void;
  /** Prints one JSON document: on one line, or indented where a person reads it. */
  json(value: unknown): void;
  /** Prints one JSON document on one line, as it is: for a program that waits for what this one made up. */
  line(value: unknown): void;
}

/** An output over a sink. Every secret is replaced on the way. */
export function createOutput(sink: Pick<Sink, 'write'>, terminal: Terminal, redact: Redactor): Output {
  const print = (lines: readonly string[]) => sink.write(redact(lines.map((line) => `${line}\n`).join('')));
  return {
    terminal,
    redact,
    print,
    present: (lines) => print(terminal.isTerminal ? ['', ...lines] : lines),
    json: (value) => sink.write(redact(`${toSafeJson(value, terminal.isTerminal ? 2 : undefined)}\n`)),
    line: (value) => sink.write(`${toSafeJson(value)}\n`),
  };
}
