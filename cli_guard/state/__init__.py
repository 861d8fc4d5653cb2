"""The state folder: approvals, pending reviews, the audit log and memory."""
