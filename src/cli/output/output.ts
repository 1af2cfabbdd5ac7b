import type { Redactor } from '../../settings/redact.ts';
import { toSafeJson } from '../text/escape.ts';
import type { TableFrame } from '../text/table.ts';
import type { Sink } from './sink.ts';
import type { Terminal } from './terminal.ts';

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
}

export interface OutputOptions {
  readonly sink: Pick<Sink, 'write'>;
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
  };
}
