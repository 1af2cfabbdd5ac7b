import { BASE } from './base.ts';
import { CONTENT } from './content.ts';
import { DRAWINGS } from './drawings.ts';
import { HEADER } from './header.ts';
import { MEDIA } from './media.ts';
import { TOKENS } from './tokens.ts';

/** The style of all pages: the dashboard serves it as one file, a report holds it. */
export const styleSheet: string = [TOKENS, BASE, HEADER, CONTENT, DRAWINGS, MEDIA].join('');
