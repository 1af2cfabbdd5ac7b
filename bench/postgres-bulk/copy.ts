import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { TableRows, Value, Values } from '../../schema/row.ts';
import { typedColumns } from './tables.ts';

const CHUNK_CHARS = 65_536;
const SPECIAL = /[\\\t\n\r]/;
const EVERY_SPECIAL = /[\\\t\n\r]/g;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function textField(value: Value | undefined): string {
  if (typeof value === 'string') {
    return SPECIAL.test(value) ? value.replace(EVERY_SPECIAL, (char) => ESCAPES[char] ?? char) : value;
  }
  return value === null || value === undefined ? '\\N' : `${value}`;
}

/** Rows in the text format of COPY, as chunks of about 64 KiB. */
export function* textChunks(rows: Iterable<Values>): Generator<Buffer> {
  let text = '';
  for (const row of rows) {
    text += textField(row[0]);
    for (let at = 1; at < row.length; at += 1) text += `\t${textField(row[at])}`;
    text += '\n';
    if (text.length >= CHUNK_CHARS) {
      yield Buffer.from(text);
      text = '';
    }
  }
  if (text !== '') yield Buffer.from(text);
}

const BINARY_HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const EPOCH_DAYS = Date.UTC(2000, 0, 1) / 86_400_000;

/** Rows in the binary format of COPY, as chunks of about 64 KiB. */
export function* binaryChunks({ table, rows }: TableRows): Generator<Buffer> {
  const types = typedColumns(table).map(({ type }) => type);
  let buffer = Buffer.allocUnsafe(2 * CHUNK_CHARS);
  let end = BINARY_HEADER.copy(buffer);
  for (const row of rows) {
    end = buffer.writeInt16BE(row.length, end);
    for (let at = 0; at < row.length; at += 1) end = binaryField(buffer, end, types[at], row[at]);
    if (end >= CHUNK_CHARS) {
      yield buffer.subarray(0, end);
      buffer = Buffer.allocUnsafe(2 * CHUNK_CHARS);
      end = 0;
    }
  }
  yield buffer.subarray(0, buffer.writeInt16BE(-1, end));
}

function binaryField(
  buffer: Buffer,
  start: number,
  type: string | undefined,
  value: Value | undefined,
): number {
  if (value === null || value === undefined) return buffer.writeInt32BE(-1, start);
  if (type === 'double precision') return buffer.writeDoubleBE(Number(value), buffer.writeInt32BE(8, start));
  if (type === 'boolean') return buffer.writeInt8(Number(value), buffer.writeInt32BE(1, start));
  if (type === 'date') {
    return buffer.writeInt32BE(
      Date.parse(String(value)) / 86_400_000 - EPOCH_DAYS,
      buffer.writeInt32BE(4, start),
    );
  }
  let from = start + 4;
  if (type === 'jsonb') from = buffer.writeInt8(1, from);
  const end = from + buffer.write(String(value), from);
  buffer.writeInt32BE(end - start - 4, start);
  return end;
}

/**
 * A COPY FROM STDIN that sends its data right after the command, without waiting for the response of the server. A server
 * that rejects the command ignores the data (protocol, section "COPY Operations"), so this is safe.
 */
class EagerCopy extends pg.Query {
  constructor(
    text: string,
    chunks: Iterable<Buffer>,
    done: (error: Error | undefined, rows: number) => void,
  ) {
    super(text, (error, result) => done(error, result?.rowCount ?? 0));
    this.submit = ({ stream }) => {
      stream.write(message('Q', Buffer.from(`${text}\0`)));
      for (const chunk of chunks) {
        // One write for both; flushed at once, so that the server parses while the next chunk is encoded.
        stream.cork();
        stream.write(header('d', chunk.length));
        stream.write(chunk);
        stream.uncork();
      }
      stream.write(header('c', 0));
    };
  }

  /** pg calls this when the server accepts the command; the data is already sent. */
  handleCopyInResponse(): void {
    return;
  }
}

function header(code: string, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(5);
  bytes.write(code, 0, 'latin1');
  bytes.writeInt32BE(length + 4, 1);
  return bytes;
}

function message(code: string, body: Buffer): Buffer {
  return Buffer.concat([header(code, body.length), body]);
}

/** Runs a COPY over the client's own connection; may be pipelined. Returns the number of copied rows. */
export function eagerCopy(client: pg.Client, text: string, chunks: Iterable<Buffer>): Promise<number> {
  return new Promise((resolve, reject) => {
    client.query(new EagerCopy(text, chunks, (error, rows) => (error ? reject(error) : resolve(rows))));
  });
}

/** Runs a COPY through pg-copy-streams. Returns the number of copied rows. */
export async function streamedCopy(
  client: pg.Client,
  text: string,
  chunks: Iterable<Buffer>,
): Promise<number> {
  const target = client.query(copyFrom(text));
  await pipeline(chunks, target);
  return target.rowCount;
}

/** Discards chunks, to measure only the encoder. Returns the number of bytes. */
export async function swallow(chunks: Iterable<Buffer>): Promise<number> {
  let bytes = 0;
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      done();
    },
  });
  await pipeline(chunks, sink);
  return bytes;
}
