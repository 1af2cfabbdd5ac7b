/** A message of PostgreSQL's protocol (version 3). */
export interface Message {
  /** One letter, see the chapter "Message Formats" of PostgreSQL's manual. */
  readonly type: string;
  readonly body: Buffer;
}

const NOTHING = Buffer.alloc(0);

/** A message in the format of the protocol. */
export function encode({ type, body }: Message): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 0, 'latin1');
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}

/** The messages of a text of SQL, without parameters. */
export function queryOf(sql: string): Message {
  return { type: 'Q', body: cstring(sql) };
}

/** A text with the zero that ends it. */
export function cstring(text: string): Buffer {
  return Buffer.from(`${text}\0`);
}

/** The text that begins at `offset`, and where the next one begins. */
export function readCstring(body: Buffer, offset: number): { readonly text: string; readonly end: number } {
  const zero = body.indexOf(0, offset);
  if (zero === -1) throw new RangeError('a text of the protocol does not end');
  return { text: body.toString('utf8', offset, zero), end: zero + 1 };
}

/** Splits the bytes of a socket into messages. */
export class MessageReader {
  #rest: Buffer = NOTHING;

  /** Adds received bytes. */
  push(data: Buffer): void {
    this.#rest = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data]);
  }

  /** The next message of a connection that is set up; undefined until it is whole. */
  message(): Message | undefined {
    const body = this.#take(1);
    return body === undefined ? undefined : { type: body.toString('latin1', 0, 1), body: body.subarray(5) };
  }

  /** The body of the next message of a connection that is not set up yet, which has no type. */
  startup(): Buffer | undefined {
    return this.#take(0)?.subarray(4);
  }

  /** A whole message whose length is at `at`. */
  #take(at: number): Buffer | undefined {
    if (this.#rest.length < at + 4) return undefined;
    const end = at + this.#rest.readInt32BE(at);
    if (this.#rest.length < end) return undefined;
    const taken = this.#rest.subarray(0, end);
    this.#rest = this.#rest.subarray(end);
    return taken;
  }
}
