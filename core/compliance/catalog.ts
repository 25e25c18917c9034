import { hipaa } from './catalogues/hipaa.ts';
import { pciDss } from './catalogues/pci-dss.ts';
import { soc2 } from './catalogues/soc2.ts';
import type { Catalog, Framework } from './frameworks.ts';

const CATALOGS: Readonly<Record<Framework, Catalog>> = { 'pci-dss': pciDss, soc2, hipaa };

export function catalogOf(framework: Framework): Catalog {
  return CATALOGS[framework];
}
