/** The library of the protocol and what answers questions are loaded when a server starts, and at the first question. */

export type { ToolCall } from './assistant.ts';
export { ASSISTANT_AUDIENCES, type AssistantAudience } from './audience.ts';
export type { Pipe } from './over-stdio.ts';

type Assistants = typeof import('./assistant.ts');
type OverStdio = typeof import('./over-stdio.ts');
type OverHttp = typeof import('./over-http.ts');

export const createAssistant = async (...given: Parameters<Assistants['createAssistant']>) =>
  (await import('./assistant.ts')).createAssistant(...given);

export const serveOverStdio: OverStdio['serveOverStdio'] = async (...given) =>
  (await import('./over-stdio.ts')).serveOverStdio(...given);

export const serveOverHttp: OverHttp['serveOverHttp'] = async (...given) =>
  (await import('./over-http.ts')).serveOverHttp(...given);
