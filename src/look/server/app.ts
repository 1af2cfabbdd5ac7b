import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getCookie } from 'hono/cookie';
import type { Advice } from '../../core/reasons.ts';
import { messageHtml } from '../html/message.ts';
import { type Answer, htmlAnswer, redirect, responseOf } from './answer.ts';
import { ASSETS, assetAt } from './assets.ts';
import { LOGIN_PATH, LOGOUT_PATH, type Login, type LoginRequest } from './login.ts';
import type { PageSource } from './page-source.ts';
import { NOT_STORED, SECURITY_HEADERS } from './security-headers.ts';

/** Longer addresses are refused. Filters and a search need a tenth of it. */
const URL_CHARS_MAX = 4_096;
/** The form of the login needs a tenth of it. */
const BODY_BYTES_MAX = 4_096;

/** The parts of a server. */
export interface AppParts {
  readonly pages: PageSource;
  /** Null if no token is needed. */
  readonly login: Login | null;
  readonly answersTo: (host: string | undefined) => boolean;
  readonly hintOf: (advice: Advice) => string | undefined;
  readonly report: (error: unknown, path: string) => void;
}

type App = Hono<{ Bindings: HttpBindings }>;
type Call = Context<{ Bindings: HttpBindings }>;

/** Creates the handler of all requests. */
export function createApp(parts: AppParts): App {
  const { pages, login, report } = parts;
  const app: App = new Hono<{ Bindings: HttpBindings }>();
  app.use(async (call, next) => {
    const refusal = refusalOf(call, parts);
    if (refusal === null) await next();
    else call.res = responseOf(refusal);
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) call.header(name, value);
    if (!call.res.headers.has('cache-control')) call.header('cache-control', NOT_STORED);
  });
  app.get('/assets/*', (call) => {
    const asset = assetAt(call.req.path, call.req.header('if-none-match'));
    return responseOf(
      asset ?? plain(404, 'There is no such file', 'Only a style sheet and a script are here.'),
    );
  });
  if (login !== null) addLogin(app, login);
  app.get('*', async (call) => {
    const url = new URL(call.req.url);
    if (login !== null && !login.isLoggedIn(requestOf(call, login).session)) {
      const next = `${url.pathname}${url.search}`;
      return responseOf(
        redirect(next === '/' ? LOGIN_PATH : `${LOGIN_PATH}?next=${encodeURIComponent(next)}`),
      );
    }
    return responseOf(await pages.answer(url));
  });
  app.all('*', (call) => {
    const isForm = login !== null && [LOGIN_PATH, LOGOUT_PATH].includes(call.req.path);
    const answer = plain(405, 'This cannot be done', 'The dashboard only shows pages.');
    return responseOf({
      ...answer,
      headers: { ...answer.headers, allow: isForm ? 'GET, HEAD, POST' : 'GET, HEAD' },
    });
  });
  app.onError((error, call) => {
    report(error, call.req.path);
    return responseOf(plain(500, 'A defect in Daywalk', 'The log of the dashboard says why.'));
  });
  return app;
}

function addLogin(app: App, login: Login): void {
  const limit = bodyLimit({
    maxSize: BODY_BYTES_MAX,
    onError: () => responseOf(plain(413, 'This is too long', `A form has at most ${BODY_BYTES_MAX} bytes.`)),
  });
  app.get(LOGIN_PATH, (call) =>
    responseOf(login.ask(call.req.query('next'), requestOf(call, login).session)),
  );
  app.get(LOGOUT_PATH, () => responseOf(redirect('/')));
  app.post(LOGIN_PATH, limit, async (call) => {
    if (isForeign(call)) return responseOf(foreign());
    const form = new URLSearchParams(await call.req.text());
    return responseOf(login.enter(form, requestOf(call, login)));
  });
  app.post(LOGOUT_PATH, limit, (call) =>
    responseOf(isForeign(call) ? foreign() : login.leave(requestOf(call, login))),
  );
}

function requestOf(call: Call, login: Login): LoginRequest {
  return {
    session: getCookie(call, login.cookie) ?? '',
    address: call.env.incoming.socket.remoteAddress ?? '',
    isHttps: call.req.header('x-forwarded-proto') === 'https',
  };
}

/** True for a form of another site. Browsers leave the header out for plain http to other machines; then Origin decides. */
function isForeign(call: Call): boolean {
  const site = call.req.header('sec-fetch-site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const origin = call.req.header('origin');
  // Forms of pages without a referrer have no origin.
  if (origin === undefined || origin === 'null') return false;
  return !URL.canParse(origin) || new URL(origin).host !== call.req.header('host')?.toLowerCase();
}

/** Why a request gets no answer, whatever it asks for; null if it gets one. */
function refusalOf(call: Call, { answersTo, hintOf }: AppParts): Answer | null {
  const host = call.req.header('host');
  if (!answersTo(host)) {
    const shown = (host ?? '').slice(0, HOST_CHARS_SHOWN);
    const advice = hintOf({ hint: undefined, reason: 'host-not-allowed', facts: { host: shown } });
    return plain(421, 'This is not a name of the dashboard', `It does not answer to "${shown}".`, advice);
  }
  if (call.req.url.length > URL_CHARS_MAX) {
    return plain(414, 'This address is too long', `It has more than ${URL_CHARS_MAX} characters.`);
  }
  return null;
}

const HOST_CHARS_SHOWN = 100;

function foreign(): Answer {
  return plain(403, 'This form came from another site', 'Open the dashboard itself, and log in there.');
}

function plain(status: number, heading: string, text: string, remedy?: string): Answer {
  return htmlAnswer(status, String(messageHtml({ heading, text, remedy, style: ASSETS.style })));
}
