/** The frameworks that are assessed, as answers and settings name them. */
export const FRAMEWORKS = ['pci-dss', 'soc2', 'hipaa'] as const;
export type Framework = (typeof FRAMEWORKS)[number];

/** How often a schedule assesses. */
export const CADENCES = ['daily', 'weekly', 'monthly', 'quarterly'] as const;
export type Cadence = (typeof CADENCES)[number];

/** The longest period of an assessment: a year, which is as long as states are kept. */
export const MAX_PERIOD_DAYS = 366;
