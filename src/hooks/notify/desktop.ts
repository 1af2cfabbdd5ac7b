import { spawn } from 'node:child_process';

/** A program that shows a desktop notification. */
export interface DesktopCommand {
  readonly program: string;
  readonly args: readonly string[];
}

const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * Returns the program that shows a notification on this system. Title and text are separate arguments and never part of a
 * script, so that nothing in them is executed.
 */
export function desktopCommand(
  platform: string,
  { title, text }: { readonly title: string; readonly text: string },
): DesktopCommand {
  if (platform === 'darwin') {
    const script = [
      'on run argv',
      'display notification (item 2 of argv) with title (item 1 of argv)',
      'end run',
    ];
    return { program: 'osascript', args: [...script.flatMap((line) => ['-e', line]), title, text] };
  }
  const escaped = text.replace(/[&<>]/g, (character) => MARKUP[character] ?? character);
  return { program: 'notify-send', args: ['--app-name=daywalk', '--', title, escaped] };
}

/** Shows a notification; kills the program if it takes longer than `timeoutMs`. */
export function showOnDesktop({ program, args }: DesktopCommand, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'ignore', timeout: timeoutMs, killSignal: 'SIGKILL' });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${program} ended with ${signal ?? code}`));
    });
  });
}
