import { systemClock } from '../../core/clock.ts';
import { messageOf, StorageError, UsageError } from '../../core/errors.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { readSettings, type SettingsReading, soundSettings } from '../../settings/read-settings.ts';
import type { Redactor } from '../../settings/redact.ts';
import { redactorOf, redactorOfEnvironment, redactorOfLocations } from '../../settings/secrets.ts';
import type { LogFormat } from '../../settings/settings.ts';
import { SETTINGS } from '../../settings/settings-table.ts';
import type { Flags } from '../arguments/flags.ts';
import { asksForJsonLog } from '../arguments/log-format.ts';
import { type CommandInvocation, NoCommandError, parseCommandLine } from '../arguments/parse-command-line.ts';
import { createJsonLog } from '../log/json-log.ts';
import { createOutput } from '../output/output.ts';
import { quietly } from '../output/quiet.ts';
import { createReporting, type Reporting } from '../output/reporting.ts';
import { createSink, type Sink } from '../output/sink.ts';
import { COLUMNS_DEFAULT, type Terminal, terminalOf } from '../output/terminal.ts';
import type { CliHost } from '../process/host.ts';
import { listenForStop } from '../process/stop-signals.ts';
import { type Command, flagName } from './command.ts';
import { describeFailure, failureOf, logFailure } from './failure.ts';

interface Streams {
  readonly out: Sink;
  readonly err: Sink;
  readonly outTerminal: Terminal;
  readonly errTerminal: Terminal;
}

/** Runs one command line and answers its exit code. Never throws: every failure is told on standard error. */
export async function runCli(host: CliHost): Promise<ExitCode> {
  const streams: Streams = {
    out: createSink(host.stdout),
    err: createSink(host.stderr),
    outTerminal: terminalOf(host.stdout, host.env),
    errTerminal: terminalOf(host.stderr, host.env),
  };
  try {
    return await dispatch(host, streams);
  } catch (error) {
    const debug = host.env['DAYWALK_DEBUG'] === '1';
    const format = asksForJsonLog(host.argv, host.env) ? 'json' : undefined;
    return tellEarly(error, { sink: streams.err, redact: redactorOfEnvironment(host.env), debug, format });
  }
}

async function dispatch(host: CliHost, streams: Streams): Promise<ExitCode> {
  const invocation = parseCommandLine(host.argv, {
    commands: host.commands,
    version: host.version,
    // Text is wrapped for reading wherever it goes; only results are not.
    width: streams.outTerminal.isTerminal ? streams.outTerminal.columns() : COLUMNS_DEFAULT,
  });
  if (invocation.kind === 'text') {
    streams.out.write(invocation.text);
    return EXIT.ok;
  }
  return invocation.flags.isOn('--quiet')
    ? performQuietly(invocation, host, streams)
    : perform(invocation, host, streams);
}

function performQuietly(invocation: CommandInvocation, host: CliHost, streams: Streams): Promise<ExitCode> {
  return quietly(streams, (sinks, release) => {
    const exit = (code: ExitCode) => {
      release();
      host.control.exit(code);
    };
    const onDefect: CliHost['onDefect'] = (tell) => {
      host.onDefect((error) => {
        tell(error);
        release();
      });
    };
    const errTerminal = { ...streams.errTerminal, isLive: false };
    const quietHost = { ...host, onDefect, control: { ...host.control, exit } };
    return perform(invocation, quietHost, { ...streams, ...sinks, errTerminal });
  });
}

async function perform(
  { command, flags, operands }: CommandInvocation,
  host: CliHost,
  streams: Streams,
): Promise<ExitCode> {
  const directory = workingDirectory(host);
  const reading = readSettings({
    flags: settingFlags(command, flags),
    env: host.env,
    directory,
    logDefault: command.isForPeople === true || streams.errTerminal.isTerminal ? 'pretty' : 'json',
    uses: command.uses,
  });
  const redact = everyRedactor(
    redactorOf(reading.settings),
    redactorOfEnvironment(host.env),
    redactorOfLocations(locationsIn(command, flags)),
  );
  const asked = askedFormat(reading);
  const early = { sink: streams.err, redact, debug: reading.debug, format: asked };
  if (command.acceptsUnsoundSettings !== true) {
    try {
      soundSettings(reading);
    } catch (error) {
      return tellEarly(error, early);
    }
  }
  const { settings } = reading;
  const clock = systemClock(settings.now ?? undefined);
  const terminal = streams.errTerminal;
  const reporting = createReporting({ format: settings.log, sink: streams.err, terminal, redact, clock });
  const stopping = listenForStop(host.control, (name) => reporting.log.write(stopNotice(name)));
  const telling = { ...early, reporting, format: settings.log, wordsForUsage: asked !== 'json' };

  host.onDefect((error) => void tell(error, telling));
  warn(reporting, reading);
  try {
    const exitCode = await command.act({
      flags,
      operands,
      settings,
      reading,
      job: { clock, observe: reporting.observe, signal: stopping.signal },
      log: reporting.log,
      out: createOutput(afterProgress(reporting, streams.out), streams.outTerminal, redact),
      input: host.stdin,
      directory,
      self: host.self,
    });
    await streams.out.flush();
    return worseOf(exitCode, command, streams.out);
  } catch (error) {
    reporting.stop();
    return tell(error, telling);
  } finally {
    reporting.stop();
    stopping.dispose();
  }
}

/** @throws {UsageError} when the folder is gone: `.env` and relative paths would be looked for nowhere. */
function workingDirectory(host: CliHost): string {
  try {
    return host.directory();
  } catch (cause) {
    throw new UsageError(`the working directory cannot be used: ${messageOf(cause)}`, {
      cause,
      hint: 'it was deleted or replaced; change into a folder that exists, and run the command again',
    });
  }
}

function settingFlags(command: Command, flags: Flags): Record<string, string | undefined> {
  const names = command.uses.flatMap((setting) => (setting.flag === null ? [] : [setting.flag]));
  return Object.fromEntries(names.map((name) => [name, flags.text(name)]));
}

/** What was given for flags whose values may hold a password. */
function locationsIn(command: Command, flags: Flags): string[] {
  return command.flags.flatMap(({ syntax, mayHoldPassword }) => {
    const value = mayHoldPassword === true ? flags.text(flagName(syntax)) : undefined;
    return value === undefined ? [] : [value];
  });
}

function everyRedactor(...redactors: readonly Redactor[]): Redactor {
  return (text) => redactors.reduce((result, redact) => redact(result), text);
}

function warn({ log }: Reporting, { warnings }: SettingsReading): void {
  for (const { message, hint } of warnings) log.write({ level: 'warn', event: 'settings', message, hint });
}

function stopNotice(name: string) {
  return {
    level: 'info',
    event: 'stopping',
    message: `${name}: stopping; what is committed is safe. Once more ends at once`,
  } as const;
}

/** Standard output, once the progress has left the terminal that both may be on. */
function afterProgress(reporting: Reporting, sink: Sink): Pick<Sink, 'write'> {
  return {
    write: (text) => {
      reporting.stop();
      sink.write(text);
    },
  };
}

/** A result that was lost on the way out is a failure, unless the reader just had enough. */
function worseOf(exitCode: ExitCode, { resultIsOutput }: Command, out: Sink): ExitCode {
  const { failure } = out;
  if (failure === null || failure.code === 'EPIPE' || !resultIsOutput) return exitCode;
  throw new StorageError(`write the result to standard output: ${failure.message}`, {
    cause: failure,
    hint: 'make room where the output goes, and run the command again',
  });
}

interface Telling {
  readonly sink: Sink;
  readonly redact: Redactor;
  readonly debug: boolean;
  readonly format?: LogFormat | undefined;
}

/** Tells a failure before the command has its reporting: as JSON only where that was asked for. */
function tellEarly(error: unknown, telling: Telling): ExitCode {
  const { sink, redact } = telling;
  const log = createJsonLog({ write: (text) => sink.write(redact(text)), clock: systemClock() });
  return tell(error, { ...telling, reporting: { log } });
}

/** The format of logs where somebody asked for one; undefined where it is the default. */
function askedFormat({ settings, entries }: SettingsReading): LogFormat | undefined {
  const entry = entries.find(({ setting }) => setting.env === SETTINGS.log.env);
  return entry === undefined || entry.source === 'default' ? undefined : settings.log;
}

/**
 * Tells a failure on standard error: as a line of the log where machines read that, else in words. Unless JSON was asked
 * for, wrong usage is told in words: it is the answer to a person who is at the keyboard.
 */
function tell(
  error: unknown,
  {
    sink,
    redact,
    debug,
    reporting,
    format,
    wordsForUsage = false,
  }: Telling & { readonly reporting: Pick<Reporting, 'log'>; readonly wordsForUsage?: boolean },
): ExitCode {
  const failure = failureOf(error);
  const isJson = format === 'json' && !(wordsForUsage && error instanceof UsageError);
  if (isJson) logFailure(reporting.log, failure, { debug });
  else {
    if (error instanceof NoCommandError) sink.write(`${error.help}\n`);
    for (const line of describeFailure(failure, { debug })) sink.write(redact(`${line}\n`));
  }
  return failure.exitCode;
}
