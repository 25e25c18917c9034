/** Acts on a terminal, or hides or turns round what is written beside it. */
export const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
export const IN_PLACE = '\uFFFD';

/** One line for a terminal or a log, whatever others wrote into it. */
export const visibleLine = (text: string) => text.replaceAll(HIDDEN, IN_PLACE);
