import { Readable } from 'node:stream';
import { type Reached, serveAssistants } from '../../../jobs/assistants.ts';
import { ASSISTANT_AUDIENCES, type AssistantAudience, type ToolCall } from '../../assistants/index.ts';
import { parseListenAddress } from '../../core/addresses.ts';
import { DaywalkError, nearestName, UsageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import { audit } from '../output/audit.ts';
import { limitHeapGrowth } from '../process/stop-signals.ts';
import type { Action, CommandContext } from '../program/command.ts';
import { failureOf } from '../program/failure.ts';

/** Half of the memory that a server takes otherwise is garbage. */
const HEAP_GROWTH_PERCENT = 20;

/** Serves a client over standard input and output, or clients over HTTP, until it ends or a signal comes. */
export const mcpAction: Action = async (context) => {
  const { flags, settings, job, log } = context;
  limitHeapGrowth(HEAP_GROWTH_PERCENT);
  const request = {
    reached: reachedBy(context),
    audience: flags.parse('--audience', audienceOf) ?? 'managers',
    organization: flags.text('--organization'),
  };
  const observeCall = ({ tool, ...facts }: ToolCall) => audit(log, `called ${tool}`, { tool, ...facts });
  const report = (error: unknown, doing: string) => {
    const { message, hint, stack } = failureOf(error);
    log.write({
      level: 'error',
      event: 'call-failed',
      message,
      hint: hint === '' ? undefined : hint,
      fields: { doing, ...(settings.debug ? { stack } : {}) },
    });
  };
  await serveAssistants(settings, request, { ...job, observeCall, report });
  const reason: unknown = job.signal.reason;
  return reason instanceof DaywalkError ? reason.exitCode : EXIT.ok;
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

function audienceOf(name: string): AssistantAudience {
  const found = ASSISTANT_AUDIENCES.find((audience) => audience === name);
  if (found !== undefined) return found;
  const nearest = nearestName(name, ASSISTANT_AUDIENCES);
  throw new UsageError(`"${name}" is not an audience of assistants`, {
    hint:
      nearest === undefined ? `choose from ${ASSISTANT_AUDIENCES.join(', ')}` : `did you mean ${nearest}?`,
  });
}
