import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, onTestFinished } from 'vitest';
import { findChromium, launch, NO_CHROMIUM } from './chromium.ts';

/** A tab, and what the browser noticed in it. */
export interface Tab {
  readonly page: Page;
  /** Every address that was requested. */
  readonly requested: readonly string[];
  /** Errors on the console, uncaught errors, violations of the content security policy, failed requests and dialogs. */
  readonly problems: readonly string[];
}

/** How a tab looks at pages. */
export type TabOptions = Pick<
  BrowserContextOptions,
  | 'colorScheme'
  | 'deviceScaleFactor'
  | 'forcedColors'
  | 'hasTouch'
  | 'httpCredentials'
  | 'isMobile'
  | 'javaScriptEnabled'
  | 'viewport'
>;

/** Opens tabs of one browser. */
export interface TestBrowser {
  /** A tab with its own cookies, which is closed when the test ends. */
  open(options?: TabOptions): Promise<Tab>;
}

const PAGE_MS = 60_000;

/** Starts one browser for the tests of a file. Without Chromium they are skipped with the reason. */
export function useBrowser(): TestBrowser {
  const path = findChromium();
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (path !== null) browser = await launch(path);
  });
  afterAll(() => browser?.close());
  beforeEach(({ skip }) => skip(path === null, NO_CHROMIUM));
  return {
    open: async (options = {}) => {
      if (browser === undefined) throw new Error('the browser is not started');
      const context = await browser.newContext({
        locale: 'en-GB',
        timezoneId: 'Pacific/Auckland',
        reducedMotion: 'reduce',
        ...options,
      });
      onTestFinished(() => context.close());
      context.setDefaultTimeout(PAGE_MS);
      return watched(await context.newPage());
    },
  };
}

function watched(page: Page): Tab {
  const requested: string[] = [];
  const problems: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText;
    // Whoever leaves a page ends the requests that it still waits for.
    if (reason !== 'net::ERR_ABORTED') problems.push(`${request.url()}: ${reason}`);
  });
  page.on('pageerror', (error) => problems.push(`uncaught: ${error.message}`));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(`console: ${message.text()}`);
  });
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, requested, problems };
}
