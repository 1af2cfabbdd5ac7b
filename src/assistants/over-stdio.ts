import { type JSONRPCMessage, ReadBuffer, type Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { onAbort } from '../core/clock.ts';
import type { Assistant } from './assistant.ts';
import { createProtocolServer } from './protocol.ts';

/** Two ends of a pipe to a client, one message a line. */
export interface Pipe {
  readonly input: AsyncIterable<Uint8Array>;
  /** Writes a message. Resolves to false once nobody reads any more. */
  send(message: unknown): Promise<boolean>;
  /** Stops reading. */
  close(): void;
}

/** How long calls in progress may take when the client has closed its end. */
const LEAVING_MS = 700;

/**
 * Serves one client over a pipe, until it closes one of its ends, or the signal aborts.
 * @param report receives messages that are not of the protocol. Must not throw.
 */
export async function serveOverStdio(
  pipe: Pipe,
  assistant: () => Promise<Assistant>,
  { signal, sleep, report }: Serving,
): Promise<void> {
  const transport = createTransport(pipe, sleep);
  const handle = serveStdio(() => createProtocolServer(assistant), {
    transport,
    onerror: (error) => report(error),
  });
  const unlisten = onAbort(signal, () => void handle.close());
  if (signal.aborted) await handle.close();
  await transport.ended;
  unlisten();
  await handle.close();
}

interface Serving {
  readonly signal: AbortSignal;
  readonly sleep: (ms: number) => Promise<void>;
  readonly report: (error: unknown) => void;
}

function createTransport(pipe: Pipe, sleep: Serving['sleep']): Transport & { readonly ended: Promise<void> } {
  const open = new Set<string | number>();
  let isClosed = false;
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const { promise: idle, resolve: settle } = Promise.withResolvers<void>();
  let isLeaving = false;
  const transport: Transport & { readonly ended: Promise<void> } = {
    ended,
    start: async () => void receive(),
    send: async (message) => {
      if (isClosed) return;
      if ('id' in message && message.id !== undefined && !('method' in message)) open.delete(message.id);
      if (!(await pipe.send(message))) await transport.close();
      if (isLeaving && open.size === 0) settle();
    },
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      pipe.close();
      transport.onclose?.();
      end();
    },
  };
  const take = (message: JSONRPCMessage) => {
    if ('method' in message && 'id' in message && message.id !== undefined) open.add(message.id);
    transport.onmessage?.(message);
  };
  const receive = async () => {
    const buffer = new ReadBuffer();
    try {
      for await (const chunk of pipe.input) {
        if (isClosed) return;
        buffer.append(Buffer.from(chunk));
        for (let next = nextOf(buffer, transport); next !== null; next = nextOf(buffer, transport))
          take(next);
      }
      isLeaving = true;
      if (open.size > 0) await Promise.race([idle, sleep(LEAVING_MS)]);
    } catch (error) {
      // Reading that was stopped ends with an error, too.
      if (!isClosed) transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
    await transport.close();
  };
  return transport;
}

/** The next message that can be read; a line that is none is reported and passed over. */
function nextOf(buffer: ReadBuffer, { onerror }: Transport): JSONRPCMessage | null {
  for (;;) {
    try {
      return buffer.readMessage();
    } catch (error) {
      onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }
}
