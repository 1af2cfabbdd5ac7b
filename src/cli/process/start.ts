import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { packageVersion, programScript } from '../../core/files.ts';
import { redactorOfEnvironment } from '../../settings/index.ts';
import { commands } from '../commands.ts';
import { describeFailure, failureOf } from '../program/failure.ts';
import { runCli } from '../program/run-cli.ts';
import { ignoreEarlySignal } from './early-signals.ts';
import { selfCommand } from './host.ts';

/** How long an open connection may keep a finished process alive. */
const LINGER_MS = 2_000;

let isFinished = false;

/** Ends the process at once. */
function end(code: ExitCode): void {
  isFinished = true;
  killBySignal(code);
  process.exit(code);
}

/** The names in `process.getActiveResourcesInfo` of work in Node's threads: files and host names. */
const THREAD_WORK = /^(?:FSReq|GetAddrInfo|GetNameInfo)/;

/**
 * Kills the process by the signal that stopped it, if one of Node's threads is busy. A normal exit would wait for the
 * threads, and reading a FIFO, for example, may never end. A shell reports the same exit code in both cases.
 */
function killBySignal(code: ExitCode): void {
  const signal = code === EXIT.interrupted ? 'SIGINT' : code === EXIT.terminated ? 'SIGTERM' : undefined;
  // The first process of a container does not receive a signal without a handler.
  if (signal === undefined || process.pid === 1) return;
  if (!process.getActiveResourcesInfo().some((kind) => THREAD_WORK.test(kind))) return;
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** Reports a defect. Node's own report would print the stack, and with it any secret in the message. */
let reportDefect = (error: unknown): void => {
  const redact = redactorOfEnvironment(process.env);
  const lines = describeFailure(failureOf(error), { debug: process.env['DAYWALK_DEBUG'] === '1' });
  process.stderr.write(redact(lines.map((line) => `${line}\n`).join('')));
};

process.on('uncaughtException', (error) => {
  reportDefect(error);
  end(EXIT.defect);
});

// If the event loop becomes empty before the command has ended, Node exits with code 0. This reports a defect instead.
process.once('exit', () => {
  if (isFinished) return;
  reportDefect(new Error('the event loop ended before the command'));
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
  onDefect: (report) => {
    reportDefect = report;
  },
  control: {
    on: (signal, listener) => {
      process.on(signal, listener);
      ignoreEarlySignal(signal);
    },
    off: (signal, listener) => void process.off(signal, listener),
    leave: (signal) => {
      // The first process of a container does not receive a signal without a handler.
      if (process.pid !== 1) ignoreEarlySignal(signal);
    },
    exit: end,
  },
});

isFinished = true;
process.exitCode = exitCode;
setTimeout(() => end(exitCode), LINGER_MS).unref();
