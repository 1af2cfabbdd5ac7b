import { type CallToolResult, Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import { type AssistantOptions, createAssistant, type ToolCall } from '../../../src/assistants/assistant.ts';
import { createProtocolServer } from '../../../src/assistants/protocol.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { isObject } from '../../../src/core/json.ts';
import { keepOpen } from '../../../src/warehouse/kept-open.ts';
import { daywalkInProcess } from '../process/daywalk-in-process.ts';
import type { Place } from '../warehouse/each-database.ts';

/** What a call returned: the sentences, and the data that the client has checked against the schema of the tool. */
export interface Said {
  readonly isRefused: boolean;
  /** The text without the data after it. */
  readonly words: string;
  /** All that a model reads. */
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A client of a server about a warehouse, and what the server has noted. */
export interface AssistantClient {
  readonly client: Client;
  readonly calls: readonly ToolCall[];
  readonly failures: readonly unknown[];
  call(name: string, given?: Readonly<Record<string, unknown>>): Promise<Said>;
}

/** Connects the official client to a server about a warehouse, in this process, until the test ends. */
export async function connectAssistant(
  place: Pick<Place, 'location'>,
  { now, ...options }: { readonly now: string } & Partial<AssistantOptions>,
): Promise<AssistantClient> {
  const clock = systemClock(new Date(now));
  const warehouse = keepOpen(place.location, { clock, statementMsMax: 60_000 });
  const [calls, failures]: [ToolCall[], unknown[]] = [[], []];
  const assistant = createAssistant({
    ...{ warehouse, clock, audience: 'managers', organization: undefined, minGroup: 5, callMsMax: 60_000 },
    observe: (call) => calls.push(call),
    report: (error) => failures.push(error),
    ...options,
  });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await createProtocolServer(async () => assistant).connect(far);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(near);
  onTestFinished(async () => {
    await client.close();
    await warehouse.close();
  });
  // The client checks answers against the schemas that it has listed.
  await client.listTools();
  return {
    client,
    calls,
    failures,
    call: async (name, given = {}) => saidIn(await client.callTool({ name, arguments: given })),
  };
}

export function saidIn({ content, structuredContent, isError }: CallToolResult): Said {
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
  const data = isObject(structuredContent) ? structuredContent : {};
  return { isRefused: isError === true, words: text.split('\n{')[0] ?? '', text, data };
}

/** What `daywalk metric … --json` prints about the same warehouse at the same instant. */
export async function metricJson(
  place: Pick<Place, 'location'>,
  now: string,
  args: readonly string[],
): Promise<Readonly<Record<string, unknown>>> {
  const { code, stdout, stderr } = await daywalkInProcess(['metric', ...args, '--json'], {
    env: { DAYWALK_WAREHOUSE: place.location, DAYWALK_NOW: now },
  });
  if (code !== 0) throw new Error(`daywalk metric ${args.join(' ')}: ${stderr}`);
  const answer: unknown = JSON.parse(stdout);
  return isObject(answer) ? answer : {};
}
