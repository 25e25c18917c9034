import { hipaa } from './catalogues/hipaa.ts';
import { pciDss } from './catalogues/pci-dss.ts';
import { soc2 } from './catalogues/soc2.ts';
import type { Catalogue, Framework } from './frameworks.ts';

const CATALOGUES: Readonly<Record<Framework, Catalogue>> = { 'pci-dss': pciDss, soc2, hipaa };

export function catalogueOf(framework: Framework): Catalogue {
  return CATALOGUES[framework];
}
