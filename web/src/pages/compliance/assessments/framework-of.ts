import { FRAMEWORK_NAMES, type Framework } from '../../../api/frameworks.ts';

/** The framework that is looked at: it stands in the address. */
export function frameworkOf(text: string | null): Framework {
  return text !== null && Object.hasOwn(FRAMEWORK_NAMES, text) ? (text as Framework) : 'pci-dss';
}
