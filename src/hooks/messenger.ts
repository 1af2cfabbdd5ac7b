/**
 * Delivers one notification in a separate process that outlives the receiver: reads the notice from standard input, delivers
 * it, and ends. Nothing reads its output, so it reports no failures.
 */
import { text } from 'node:stream/consumers';
import { isObject } from '../core/json.ts';
import { desktopCommand, showOnDesktop } from './notification.ts';

/** The process exits at the latest this long after the time limit of the notice. */
const GRACE_MS = 500;

async function callWebhook({ url, body }: { url: string; body: string }, timeoutMs: number): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'daywalk' },
    body,
    // Only the configured URL may receive the content, so redirects are not followed.
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  await response.body?.cancel();
}

async function deliver(notice: Record<string, unknown>): Promise<void> {
  const { title, text: words, desktop, webhook, timeoutMs } = notice;
  if (typeof title !== 'string' || typeof words !== 'string' || typeof timeoutMs !== 'number') return;
  setTimeout(() => process.exit(), timeoutMs + GRACE_MS);
  const jobs: Promise<void>[] = [];
  if (desktop === true) {
    jobs.push(showOnDesktop(desktopCommand(process.platform, { title, text: words }), timeoutMs));
  }
  if (isObject(webhook) && typeof webhook['url'] === 'string' && typeof webhook['body'] === 'string') {
    jobs.push(callWebhook({ url: webhook['url'], body: webhook['body'] }, timeoutMs));
  }
  await Promise.allSettled(jobs);
}

const notice: unknown = JSON.parse(await text(process.stdin));
if (isObject(notice)) await deliver(notice);
process.exit();
