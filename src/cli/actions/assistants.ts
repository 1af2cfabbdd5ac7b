import { Readable } from 'node:stream';
import { type Reached, serveAssistants } from '../../../jobs/assistants.ts';
import { ASSISTANT_AUDIENCES, type ToolCall } from '../../assistants/index.ts';
import { parseListenAddress } from '../../core/addresses.ts';
import { UsageError } from '../../core/errors.ts';
import { audit } from '../output/log.ts';
import { limitHeapGrowth, stopCode } from '../process/stop-signals.ts';
import type { Action, CommandContext } from '../program/command.ts';
import { failureOf, logFailure } from '../program/failure.ts';
import { oneNamed } from '../program/flag-values.ts';

/** Half of the memory that a server takes otherwise is garbage. */
const HEAP_GROWTH_PERCENT = 20;

/** Serves a client over standard input and output, or clients over HTTP, until it ends or a signal comes. */
export const mcpAction: Action = async (context) => {
  const { flags, settings, job, log } = context;
  limitHeapGrowth(HEAP_GROWTH_PERCENT);
  const request = {
    reached: reachedBy(context),
    audience:
      flags.parse('--audience', (name) => oneNamed(name, ASSISTANT_AUDIENCES, 'an audience of assistants')) ??
      'managers',
    organization: flags.text('--organization'),
  };
  const observeCall = ({ tool, ...facts }: ToolCall) => audit(log, `called ${tool}`, { tool, ...facts });
  const { debug } = settings;
  const report = (error: unknown, doing: string) =>
    logFailure(log, failureOf(error), { debug, event: 'call-failed', fields: { doing } });
  await serveAssistants(settings, request, { ...job, observeCall, report });
  return stopCode(job.signal);
};

function reachedBy({ flags, settings, out, input }: CommandContext): Reached {
  const listen = flags.parse('--listen', parseListenAddress);
  if (listen === undefined) {
    if (flags.text('--token-file') !== undefined)
      throw new UsageError('--token-file needs --listen', {
        hint: 'over standard input, no token is needed',
      });
    const source = input();
    const close = () => {
      if (source instanceof Readable) source.destroy();
    };
    return { kind: 'pipe', pipe: { input: source, send: (message) => out.send(message), close } };
  }
  const { mcpToken: token } = settings;
  if (token === null)
    throw new UsageError(`--listen ${flags.text('--listen')} needs a token`, {
      hint: 'write a long random text into a file, openssl rand -hex 32, and name it with --token-file',
    });
  return { kind: 'http', listen, token, onListening: (url) => out.show({ url }, () => [url]) };
}
