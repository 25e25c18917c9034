/** How long assessments are kept. */
export const RETENTION_YEARS = 3;
const YEAR_MS = 365.25 * 86_400_000;
export const RETENTION_MS = RETENTION_YEARS * YEAR_MS;
