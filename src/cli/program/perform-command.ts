import { systemClock, type Upgrade } from '../../core/clock.ts';
import { messageOf, StorageError, UsageError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/exit-code.ts';
import {
  createLearningRedactor,
  type LogFormat,
  type Redactor,
  readSettings,
  redactorOfEnvironment,
  redactorOfLocations,
  SETTINGS,
  type Settings,
  type SettingsReading,
  secretsOf,
  soundSettings,
} from '../../settings/index.ts';
import { createOutput, runQuietly } from '../output/output.ts';
import { createReporting, type Reporting } from '../output/reporting.ts';
import type { Sink, Terminal } from '../output/terminal.ts';
import type { CliHost } from '../process/host.ts';
import { leaveStopSignals, listenForStop } from '../process/stop-signals.ts';
import type { Command, Flags } from './command.ts';
import { type FailureReporting, reportFailure } from './failure.ts';
import type { CommandInvocation } from './parse-command-line.ts';

/** The output streams of the process. */
export interface CliStreams {
  readonly out: Sink;
  readonly err: Sink;
  readonly outTerminal: Terminal;
  readonly errTerminal: Terminal;
}

/**
 * Reads the settings, performs a command and returns its exit code. Reports failures of the settings and of the command.
 * @throws {UsageError} when there is no working directory.
 */
export async function performCommand(
  invocation: CommandInvocation,
  host: CliHost,
  streams: CliStreams,
): Promise<ExitCode> {
  const { command, flags } = invocation;
  const directory = workingDirectory(host);
  const reading = readSettings({
    flags: settingFlags(command, flags),
    env: host.env,
    directory,
    logDefault: command.isForPeople === true || streams.errTerminal.isTerminal ? 'pretty' : 'json',
    // Somebody who looks at the terminal decides how long to wait.
    patienceDefault: streams.errTerminal.isTerminal ? 0 : undefined,
    uses: command.uses,
  });
  const learning = createLearningRedactor(secretsOf(reading.settings));
  const redact = redactorFor(command, { flags, redact: learning.redact, env: host.env });
  const rereadSettings = () => {
    const fresh = reading.reread();
    learning.learn(secretsOf(fresh));
    return fresh;
  };
  const failing = {
    sink: streams.err,
    redact,
    debug: reading.settings.debug,
    format: askedLogFormat(reading),
  };
  if (command.acceptsInvalidSettings !== true) {
    try {
      soundSettings(reading);
    } catch (error) {
      return reportFailure(error, failing);
    }
  }
  return runAction(invocation, { host, streams, directory, reading, rereadSettings, failing });
}

/** Performs a command without its output, except of a failure. */
export function performQuietly(
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

interface ActionRun {
  readonly host: CliHost;
  readonly streams: CliStreams;
  readonly directory: string;
  readonly reading: SettingsReading;
  readonly rereadSettings: () => Settings;
  readonly failing: FailureReporting;
}

async function runAction(
  { command, flags, operands }: CommandInvocation,
  { host, streams, directory, reading, rereadSettings, failing }: ActionRun,
): Promise<ExitCode> {
  const { settings, warnings } = reading;
  const { redact } = failing;
  const clock = systemClock(settings.now ?? undefined);
  const { err: sink, errTerminal: terminal } = streams;
  const isPublic = command.isService === true;
  const reporting = createReporting({ format: settings.log, sink, terminal, redact, clock, isPublic });
  const { log, observe } = reporting;
  const stopping =
    command.onlyReads === true
      ? leaveStopSignals(host.control)
      : listenForStop(host.control, (signal) => log.write(stopNotice(signal)));
  const usageInWords = failing.format !== 'json';
  const report = (error: unknown) =>
    reportFailure(error, { ...failing, format: settings.log, log, usageInWords, isPublic });
  const out = createOutput({
    sink: afterProgress(reporting, streams.out),
    terminal: streams.outTerminal,
    redact,
    isJson: flags.isOn('--json'),
  });
  const upgraded = ({ location, from, to }: Upgrade) =>
    log.write({
      level: 'info',
      event: 'warehouse-upgraded',
      message: `upgraded the warehouse ${location} from version ${from} to ${to}`,
      fields: { from, to },
    });
  const job = { clock, observe, signal: stopping.signal, upgraded };

  host.onDefect((error) => void report(error));
  for (const warning of warnings) log.write({ level: 'warn', event: 'settings', ...warning });
  try {
    const act = await command.load();
    const { stdin: input, self } = host;
    const exitCode = await act({
      flags,
      operands,
      settings,
      reading,
      rereadSettings,
      job,
      log,
      out,
      input,
      directory,
      self,
    });
    await streams.out.flush();
    // A dry run does nothing but print.
    const isPrinted = command.resultIsOutput || flags.isOn('--json') || flags.isOn('--dry-run');
    if (isPrinted) refuseLostResult(streams.out);
    return exitCode;
  } catch (error) {
    reporting.stop();
    return report(error);
  } finally {
    reporting.stop();
    stopping.dispose();
  }
}

function workingDirectory(host: CliHost): string {
  try {
    return host.directory();
  } catch (cause) {
    throw new UsageError(`the working directory cannot be used: ${messageOf(cause)}`, {
      cause,
      hint: 'it was deleted or replaced: change to an existing folder, and run the command again',
    });
  }
}

function settingFlags(command: Command, flags: Flags): Record<string, string | undefined> {
  const names = command.uses.flatMap((setting) => (setting.flag === null ? [] : [setting.flag]));
  return Object.fromEntries(names.map((name) => [name, flags.text(name)]));
}

/** Hides the secrets of the settings, the environment, and flags that may hold a password. */
function redactorFor(
  command: Command,
  { flags, redact, env }: { flags: Flags; redact: Redactor; env: CliHost['env'] },
): Redactor {
  const locations = (command.mayHoldPassword ?? []).flatMap((flag) => flags.text(flag) ?? []);
  const redactors = [redact, redactorOfEnvironment(env), redactorOfLocations(locations)];
  return (text) => redactors.reduce((result, hide) => hide(result), text);
}

/** The configured log format; undefined for the default. */
function askedLogFormat({ settings, entries }: SettingsReading): LogFormat | undefined {
  const entry = entries.find(({ setting }) => setting.env === SETTINGS.log.env);
  return entry === undefined || entry.source === 'default' ? undefined : settings.log;
}

function stopNotice(signal: string) {
  return {
    level: 'info',
    event: 'stopping',
    message: `${signal}: stopping; committed data is safe. Send the signal again to end at once`,
  } as const;
}

/** A sink that removes the progress line before it writes, because both may be on the same terminal. */
function afterProgress(reporting: Reporting, sink: Sink): Sink {
  return {
    flush: () => sink.flush(),
    get failure() {
      return sink.failure;
    },
    write: (text) => {
      reporting.stop();
      sink.write(text);
    },
  };
}

/** @throws {StorageError} when the result could not be written, unless the reader has closed the pipe. */
export function refuseLostResult({ failure }: Sink): void {
  if (failure === null || failure.code === 'EPIPE') return;
  throw new StorageError(`write the result to standard output: ${failure.message}`, {
    cause: failure,
    hint: 'free space at the destination of the output, and run the command again',
  });
}
