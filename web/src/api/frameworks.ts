/** As people name them. */
export const FRAMEWORK_NAMES = { 'pci-dss': 'PCI DSS', soc2: 'SOC 2', hipaa: 'HIPAA' } as const;

export type Framework = keyof typeof FRAMEWORK_NAMES;
