import { html } from 'hono/html';

type Markup = ReturnType<typeof html>;

/** A page that says one thing, where no page of the dashboard can be shown. */
export interface Message {
  readonly heading: string;
  /** What happened, as a sentence. */
  readonly text: string;
  /** What to do, as a sentence. */
  readonly remedy?: string | undefined;
  /** Path of the style sheet. */
  readonly style: string;
}

/** A message as a document. */
export function messageHtml({ heading, text, remedy, style }: Message): Markup {
  return documentHtml({
    heading,
    style,
    body: html`<p class="sentence">${text}</p>${remedy === undefined ? '' : html`<p>${remedy}</p>`}`,
  });
}

/** The form that asks for the token. */
export interface LoginForm {
  /** Where to go after it. */
  readonly next: string;
  /** Why the last attempt failed, as a sentence. */
  readonly problem?: string | undefined;
  readonly style: string;
}

/** The form of the login as a document. */
export function loginHtml({ next, problem, style }: LoginForm): Markup {
  const refused =
    problem === undefined ? '' : html`<p class="problem" id="problem" role="alert">${problem}</p>`;
  return documentHtml({
    heading: 'Log in',
    style,
    body: html`<p class="sentence">Whoever started this dashboard chose its token and can give it to you.</p>
${refused}<form class="login" method="post" action="/login">
<input type="hidden" name="next" value="${next}">
<p><label for="token">Token of this dashboard</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus${problem === undefined ? '' : html` aria-invalid="true" aria-describedby="problem"`}></p>
<p><button type="submit">Log in</button></p>
</form>`,
  });
}

function documentHtml({ heading, style, body }: { heading: string; style: string; body: Markup }): Markup {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">
<title>${heading} · Daywalk</title><link rel="stylesheet" href="${style}"></head>
<body><header class="top"><div class="wide"><nav aria-label="Pages"><a class="brand" href="/">Daywalk</a></nav></div></header>
<main id="content" class="wide message"><h1>${heading}</h1>
${body}</main></body></html>
`;
}
