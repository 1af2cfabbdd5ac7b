const RETURN_AND_CLEAR = '\r\u001b[2K';

/** A line at the bottom of a terminal that is redrawn in place, below all other output. */
export interface LiveLine {
  /** Draws a text, which must have no line breaks and be narrower than the terminal. */
  show(text: string): void;
  /** Prints a line of other output. */
  printAbove(line: string): void;
  /** Removes the line. */
  clear(): void;
}

/** Creates a live line on a terminal that understands ANSI control codes. */
export function createLiveLine(write: (text: string) => void): LiveLine {
  let shown = '';
  return {
    show: (text) => {
      if (text === shown) return;
      write(RETURN_AND_CLEAR + text);
      shown = text;
    },
    printAbove: (line) => {
      // A single write, so that the terminal never shows an intermediate state.
      write(shown === '' ? `${line}\n` : `${RETURN_AND_CLEAR}${line}\n${shown}`);
    },
    clear: () => {
      if (shown !== '') write(RETURN_AND_CLEAR);
      shown = '';
    },
  };
}
