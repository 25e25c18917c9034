/** Acts on a terminal, or hides or turns round what is written beside it. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const IN_PLACE = '\uFFFD';

/** Nothing in it acts on a terminal or ends a line: the form of short texts that a control plane sends to a node. */
export const ONE_LINE = /^\P{Cc}*$/u;

/**
 * Returns text as a single log line, whatever others wrote into it. Output of commands: cli/visible.ts, which imports nothing
 * of core at startup.
 */
export const visibleLine = (text: string) => text.replaceAll(HIDDEN, IN_PLACE);
