import { writeSync } from 'node:fs';
import { messageOf } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import { receive } from '../../hooks/index.ts';
import { readReceiverSettings } from '../../settings/index.ts';
import { escapeForTerminal } from '../screens/text.ts';

const STDERR = 2;

function warn(line: string): void {
  try {
    writeSync(STDERR, `daywalk hook: ${escapeForTerminal(line)}\n`);
  } catch {
    // Standard error may be closed. The receiver must not fail because of that.
    return;
  }
}

// Even if the working directory was deleted, the event can be stored: the path of the spool is usually absolute.
function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return '/';
  }
}

/** Exits with code 0. Any other code could block the agent, or the client could show it as a failure. */
function end(): void {
  process.exit(EXIT.ok);
}

process.on('uncaughtException', (error) => {
  warn(`a defect in daywalk: ${messageOf(error)}`);
  end();
});

/** Receives one hook event, and ends the process with exit code 0 whatever happens. */
export async function receiveAsProcess(argv: readonly string[]): Promise<void> {
  try {
    const settings = readReceiverSettings({ argv, env: process.env, directory: workingDirectory() });
    const { ignored, spoolFolder, rehearsedNow, dropsEmails, notification } = settings;
    if (ignored.length > 0) warn(`ignored unknown flags: ${ignored.join(' ')}`);
    await receive({
      pid: process.pid,
      stdin: () => process.stdin,
      warn,
      now: () => rehearsedNow ?? new Date(),
      ticks: () => process.hrtime.bigint(),
      spoolFolder,
      dropEmails: dropsEmails ? dropEmails : null,
      notification: notification === null ? null : () => notification(warn),
    });
  } catch (error) {
    warn(`a defect in daywalk: ${messageOf(error)}`);
  }
  end();
}

async function dropEmails(json: string): Promise<string> {
  const { Gate } = await import('../../privacy/index.ts');
  return new Gate({ mode: 'drop' }).json(json);
}
