/** How long assessments are kept. */
export const KEPT_YEARS = 3;
const YEAR_MS = 365.25 * 86_400_000;
export const KEPT_MS = KEPT_YEARS * YEAR_MS;
