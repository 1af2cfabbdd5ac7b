import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { redactorOfEnvironment } from '../../settings/secrets.ts';
import { asksForJsonLog } from '../arguments/log-format.ts';
import { type CommandInvocation, parseCommandLine } from '../arguments/parse-command-line.ts';
import { runQuietly } from '../output/quiet.ts';
import { createSink } from '../output/sink.ts';
import { COLUMNS_DEFAULT, terminalOf } from '../output/terminal.ts';
import type { CliHost } from '../process/host.ts';
import { type CliStreams, performCommand } from './perform-command.ts';
import { reportFailure } from './report-failure.ts';

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
    return EXIT.ok;
  }
  const perform = invocation.flags.isOn('--quiet') ? performQuietly : performCommand;
  return perform(invocation, host, streams);
}

function performQuietly(
  invocation: CommandInvocation,
  host: CliHost,
  streams: CliStreams,
): Promise<ExitCode> {
  return runQuietly(streams, (sinks, release) => {
    const exit = (code: ExitCode) => {
      release();
      host.control.exit(code);
    };
    const onDefect: CliHost['onDefect'] = (report) =>
      host.onDefect((error) => {
        report(error);
        release();
      });
    return performCommand(
      invocation,
      { ...host, onDefect, control: { ...host.control, exit } },
      { ...streams, ...sinks, errTerminal: { ...streams.errTerminal, isLive: false } },
    );
  });
}
