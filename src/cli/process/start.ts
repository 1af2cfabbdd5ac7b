import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { packageVersion, programScript } from '../../core/package.ts';
import { redactorOfEnvironment } from '../../settings/secrets.ts';
import { commands } from '../commands.ts';
import { describeFailure, failureOf } from '../program/failure.ts';
import { runCli } from '../program/run-cli.ts';
import { stopObeyingEarly } from './early-signals.ts';
import { selfCommand } from './self-command.ts';

/** A connection that was left open must not keep a finished job, and the next night's behind it, from ending. */
const LINGER_MS = 2_000;

let isFinished = false;

/** Ends the process at once with a code that was meant. */
function end(code: ExitCode): void {
  isFinished = true;
  dieOfSignal(code);
  process.exit(code);
}

/** What Node's threads work on, in the words of `process.getActiveResourcesInfo`: files, and names of hosts. */
const THREAD_WORK = /^(?:FSReq|GetAddrInfo|GetNameInfo)/;

/**
 * Node waits at its exit for what its threads are at, and a file that never answers, such as a FIFO, keeps one for ever.
 * Where a signal asked the process to end, the signal ends it then: to a shell that is the same exit code.
 */
function dieOfSignal(code: ExitCode): void {
  const signal = code === EXIT.interrupted ? 'SIGINT' : code === EXIT.terminated ? 'SIGTERM' : undefined;
  // The first process of a container does not get a signal that it has no handler for.
  if (signal === undefined || process.pid === 1) return;
  if (!process.getActiveResourcesInfo().some((kind) => THREAD_WORK.test(kind))) return;
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** Tells a defect. Node's own report would print the stack, and with it whatever secret the message holds. */
let tellDefect = (error: unknown): void => {
  const redact = redactorOfEnvironment(process.env);
  const lines = describeFailure(failureOf(error), { debug: process.env['DAYWALK_DEBUG'] === '1' });
  process.stderr.write(redact(lines.map((line) => `${line}\n`).join('')));
};

process.on('uncaughtException', (error) => {
  tellDefect(error);
  end(EXIT.defect);
});

// An event loop that runs dry before the command is done would otherwise look like success.
process.once('exit', () => {
  if (isFinished) return;
  tellDefect(new Error('it stopped before it was done'));
  process.exitCode = EXIT.defect;
});

const exitCode = await runCli({
  argv: process.argv.slice(2),
  env: process.env,
  directory: () => process.cwd(),
  stdin: () => process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  commands,
  version: () => `daywalk ${packageVersion()} (node ${process.version})`,
  self: () =>
    selfCommand({
      script: programScript('src/cli/main'),
      node: process.execPath,
      searchPath: process.env['PATH'] ?? '',
    }),
  onDefect: (tell) => {
    tellDefect = tell;
  },
  control: {
    on: (signal, listener) => {
      process.on(signal, listener);
      stopObeyingEarly(signal);
    },
    off: (signal, listener) => void process.off(signal, listener),
    exit: end,
  },
});

isFinished = true;
process.exitCode = exitCode;
setTimeout(() => end(exitCode), LINGER_MS).unref();
