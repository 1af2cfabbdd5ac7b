import type { Socket } from 'node:net';
import type { ClientState, PgliteBackend } from './pglite-backend.ts';
import { cstring, encode, type Message, MessageReader, readCstring } from './wire.ts';

const SSL_REQUEST = 80_877_103;
const GSS_REQUEST = 80_877_104;
const CANCEL_REQUEST = 80_877_102;

const COPY_IN = /^\s*copy\s[\s\S]*\sfrom\s+stdin\b/i;
/** "Send text": what PostgreSQL answers to COPY … FROM STDIN. */
const COPY_IN_ANSWER: Message = { type: 'G', body: Buffer.from([0, 0, 0]) };

const PARAMETERS: Readonly<Record<string, string>> = {
  server_version: '18',
  server_encoding: 'UTF8',
  client_encoding: 'UTF8',
  DateStyle: 'ISO, MDY',
  TimeZone: 'UTC',
  integer_datetimes: 'on',
  standard_conforming_strings: 'on',
};

let clients = 0;

/** Serves one connection: PGlite executes the messages of a PostgreSQL client. */
export class PgliteClient {
  readonly #socket: Socket;
  readonly #backend: PgliteBackend;
  readonly #reader = new MessageReader();
  readonly #state: ClientState;
  #isSetUp = false;
  /** Messages up to the next Sync. */
  #batch: Message[] = [];
  /** A COPY with its data: PGlite reads no more than it is handed, so it must get all at once. */
  #copy: Message[] | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(socket: Socket, backend: PgliteBackend) {
    clients += 1;
    this.#socket = socket;
    this.#backend = backend;
    this.#state = { prefix: `client_${clients}_`, statements: new Set(), settings: [], hasSet: false };
    socket.setNoDelay(true);
    socket.on('data', (data) => this.#receive(data));
    // A killed client resets its connection; "close" follows.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => void this.#last.then(() => backend.leave(this.#state)));
  }

  #receive(data: Buffer): void {
    this.#reader.push(data);
    while (!this.#isSetUp) {
      const startup = this.#reader.startup();
      if (startup === undefined) return;
      this.#setUp(startup);
    }
    for (let message = this.#reader.message(); message !== undefined; message = this.#reader.message()) {
      this.#take(message);
    }
  }

  #setUp(startup: Buffer): void {
    const code = startup.readInt32BE(0);
    if (code === SSL_REQUEST || code === GSS_REQUEST) {
      this.#socket.write('N');
    } else if (code === CANCEL_REQUEST) {
      this.#socket.end();
    } else {
      this.#isSetUp = true;
      this.#socket.write(Buffer.concat(greeting().map(encode)));
    }
  }

  #take(message: Message): void {
    if (message.type === 'X') {
      this.#socket.end();
    } else if (this.#copy !== undefined) {
      this.#takeCopied(this.#copy, message);
    } else if (message.type === 'Q' && COPY_IN.test(message.body.toString())) {
      this.#copy = [message];
      this.#afterLast(async () => void this.#socket.write(encode(COPY_IN_ANSWER)));
    } else {
      this.#batch.push(this.#renamed(message));
      if (message.type === 'Q' || message.type === 'S') this.#run(this.#batch.splice(0));
    }
  }

  #takeCopied(copy: Message[], message: Message): void {
    // A Sync or Flush in between means nothing while data are sent.
    if (!['d', 'c', 'f'].includes(message.type)) return;
    copy.push(message);
    if (message.type === 'd') return;
    this.#copy = undefined;
    this.#run(copy);
  }

  #run(messages: readonly Message[]): void {
    this.#afterLast(async () => {
      const answer = await this.#backend.run(this.#state, messages);
      if (this.#socket.writable) this.#socket.write(withoutCopyAnswer(answer));
    });
  }

  #afterLast(work: () => Promise<void>): void {
    this.#last = this.#last.then(work);
  }

  /** Prepared statements of different clients may have the same name. */
  #renamed(message: Message): Message {
    const { type, body } = message;
    if (type === 'P') return this.#withName(message, 0);
    if (type === 'B') return this.#withName(message, readCstring(body, 0).end);
    const isStatement = (type === 'D' || type === 'C') && body.toString('latin1', 0, 1) === 'S';
    return isStatement ? this.#withName(message, 1) : message;
  }

  #withName({ type, body }: Message, offset: number): Message {
    const { text, end } = readCstring(body, offset);
    if (text === '') return { type, body };
    const name = this.#state.prefix + text;
    this.#state.statements.add(name);
    return { type, body: Buffer.concat([body.subarray(0, offset), cstring(name), body.subarray(end)]) };
  }
}

function greeting(): Message[] {
  return [
    { type: 'R', body: Buffer.alloc(4) },
    ...Object.entries(PARAMETERS).map(([name, value]) => ({
      type: 'S',
      body: Buffer.concat([cstring(name), cstring(value)]),
    })),
    { type: 'K', body: Buffer.alloc(8) },
    { type: 'Z', body: Buffer.from('I') },
  ];
}

/** The client of a COPY has had its answer before it sent data. */
function withoutCopyAnswer(answer: Buffer): Buffer {
  return answer.toString('latin1', 0, 1) === 'G' ? answer.subarray(1 + answer.readInt32BE(1)) : answer;
}
