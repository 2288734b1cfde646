// RRefIds, ForkIds and ContextIds are arrays [created_on, incarnation, number] (R2); as keys of tables they are texts.
export const key = (id) => id.join(".");
