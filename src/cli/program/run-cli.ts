import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { redactorOfEnvironment } from '../../settings/index.ts';
import { COLUMNS_DEFAULT, createSink, terminalOf } from '../output/terminal.ts';
import type { CliHost } from '../process/host.ts';
import { reportFailure } from './failure.ts';
import { parseCommandLine } from './parse-command-line.ts';
import type { CliStreams } from './perform-command.ts';

/** Runs one command line and returns its exit code. Never throws: failures are reported on standard error. */
export async function runCli(host: CliHost): Promise<ExitCode> {
  const streams: CliStreams = {
    out: createSink(host.stdout),
    err: createSink(host.stderr),
    outTerminal: terminalOf(host.stdout, host.env),
    errTerminal: terminalOf(host.stderr, host.env),
  };
  try {
    return await dispatch(host, streams);
  } catch (error) {
    return reportFailure(error, {
      sink: streams.err,
      redact: redactorOfEnvironment(host.env),
      debug: host.env['DAYWALK_DEBUG'] === '1',
      format: asksForJsonLog(host.argv, host.env) ? 'json' : undefined,
    });
  }
}

async function dispatch(host: CliHost, streams: CliStreams): Promise<ExitCode> {
  const { out, outTerminal } = streams;
  const invocation = parseCommandLine(host.argv, {
    commands: host.commands,
    version: host.version,
    // Help is wrapped even if standard output is not a terminal.
    width: outTerminal.isTerminal ? outTerminal.columns() : COLUMNS_DEFAULT,
  });
  if (invocation.kind === 'text') {
    out.write(invocation.text);
    await out.flush();
    if (out.failure !== null) (await import('./perform-command.ts')).refuseLostResult(out);
    return EXIT.ok;
  }
  // Loaded only now, so that help and usage errors are fast.
  const { performCommand, performQuietly } = await import('./perform-command.ts');
  const perform = invocation.flags.isOn('--quiet') ? performQuietly : performCommand;
  return perform(invocation, host, streams);
}

/**
 * True if a flag, or without a flag the environment, selects JSON logs. Reads the unparsed arguments, so that an error of
 * the parser is reported in the right format.
 */
function asksForJsonLog(argv: readonly string[], env: Readonly<Record<string, string | undefined>>): boolean {
  const given = argv.flatMap((argument, index) => {
    if (argument === '--log') return [argv[index + 1]];
    return argument.startsWith('--log=') ? [argument.slice('--log='.length)] : [];
  });
  return (given.at(-1) ?? env['DAYWALK_LOG']) === 'json';
}
