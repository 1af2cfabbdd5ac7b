import { Writable } from 'node:stream';
import type { OutputStream } from '../../../src/cli/output/terminal.ts';

/** A stream that a test reads back; a terminal when it has columns. */
export class FakeStream extends Writable implements OutputStream {
  text = '';
  readonly isTTY: boolean;
  columns: number;

  constructor({ columns }: { columns?: number } = {}) {
    super({ decodeStrings: false });
    this.isTTY = columns !== undefined;
    this.columns = columns ?? 0;
  }

  override _write(chunk: string, _encoding: string, done: () => void): void {
    this.text += chunk;
    done();
  }

  /** What a person sees: the lines of the screen after all carriage returns and clears. */
  get screen(): string[] {
    return this.text.split('\n').map((line) => line.split('\r\u001b[2K').at(-1) ?? '');
  }
}
